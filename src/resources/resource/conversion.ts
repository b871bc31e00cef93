/** What differs between the versions of the group; v1beta1 is the one that is stored. Arguments are not changed. */
import { type ApiObject, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

type Convert = (object: ApiObject) => ApiObject;

/** A copy in which each entry of the list at the path is another. */
const eachAt =
  (path: readonly string[], convert: (entry: JsonObject) => JsonObject): Convert =>
  (object) =>
    changeAt(object, path, (entries) =>
      Array.isArray(entries) ? entries.map((entry) => (isJsonObject(entry) ? convert(entry) : entry)) : entries,
    ) as ApiObject;

function changeAt(value: Json | undefined, path: readonly string[], change: (value: Json) => Json): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value === undefined ? undefined : change(value);
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: changeAt(value[step], rest, change) as Json };
}

const exactFields = ['deviceClassName', 'selectors', 'allocationMode', 'count', 'adminAccess', 'tolerations'];

/** In v1beta2 what a request for one kind of device says stands in a struct of its own. */
function nestRequest(request: JsonObject): JsonObject {
  const { name = '', firstAvailable } = request;
  const said = exactFields.filter((field) => request[field] !== undefined && request[field] !== '');
  const exactly = Object.fromEntries(exactFields.flatMap((field) => pick(request, field)));
  return {
    name,
    ...(said.length === 0 ? {} : { exactly }),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  };
}

const pick = (object: JsonObject, field: string): [string, Json][] =>
  object[field] === undefined ? [] : [[field, object[field]]];

const flattenRequest = ({ exactly, ...request }: JsonObject): JsonObject => ({
  ...request,
  ...(isJsonObject(exactly) ? exactly : {}),
});

/** In v1beta2 what a device has stands beside its name. */
const flattenDevice = ({ basic, ...device }: JsonObject): JsonObject => ({
  ...device,
  ...(isJsonObject(basic) ? basic : {}),
});
const nestDevice = ({ name = '', ...basic }: JsonObject): JsonObject => ({ name, basic });

/** In v1alpha3 a capacity is an amount and nothing else. */
const changeCapacity =
  (change: (capacity: Json) => Json) =>
  (device: JsonObject): JsonObject =>
    changeAt(device, ['basic', 'capacity'], (capacity) =>
      isJsonObject(capacity)
        ? Object.fromEntries(Object.entries(capacity).map(([name, one]) => [name, change(one)]))
        : capacity,
    ) as JsonObject;

const requests = ['spec', 'devices', 'requests'];
const devices = ['spec', 'devices'];

export const claimToV1beta2 = eachAt(requests, nestRequest);
export const claimFromV1beta2 = eachAt(requests, flattenRequest);
export const templateToV1beta2 = eachAt(['spec', ...requests], nestRequest);
export const templateFromV1beta2 = eachAt(['spec', ...requests], flattenRequest);
export const sliceToV1beta2 = eachAt(devices, flattenDevice);
export const sliceFromV1beta2 = eachAt(devices, nestDevice);
export const sliceToV1alpha3 = eachAt(
  devices,
  changeCapacity((capacity) => (isJsonObject(capacity) ? (capacity['value'] ?? '0') : capacity)),
);
export const sliceFromV1alpha3 = eachAt(
  devices,
  changeCapacity((value) => ({ value })),
);
