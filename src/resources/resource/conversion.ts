/** Conversion between the versions of the group; v1beta1 is the storage version. Arguments are not modified. */
import { type ApiObject, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

type Convert = (object: ApiObject) => ApiObject;

/** Returns a function that copies an object with each entry of the list at the path mapped. */
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

/** v1beta2 moves the fields of an exact request into `exactly`. */
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

/** v1beta2 has no `basic`: attributes and capacity are fields of the device. */
const flattenDevice = ({ basic, ...device }: JsonObject): JsonObject => ({
  ...device,
  ...(isJsonObject(basic) ? basic : {}),
});
const nestDevice = ({ name = '', ...basic }: JsonObject): JsonObject => ({ name, basic });

/** In v1alpha3 a capacity is a plain quantity. */
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
