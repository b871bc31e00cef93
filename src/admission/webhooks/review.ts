import { parseAnyJsonInSteps, stringifyJson } from '../../codec/index.ts';
import {
  type ByteString,
  encodeText,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  type Names,
  parseGroupVersion,
  quote,
  type StatusDetails,
  StatusError,
  type Steps,
  toUserInfo,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { AdmissionReview } from '../../types/admission-v1.ts';
import { namespaceOf } from '../matching.ts';
import type { AdmissionRequest, ServedKind } from '../types.ts';
import type { HookType, ReviewVersion } from './configurations.ts';

/** Levels of nesting around an object in a review. */
const reviewDepth = 4;
/** Maximum number of members of all objects and lists in a response, without its patch. */
const maxAnswerMembers = 20_000;

const apiVersionOf = (version: ReviewVersion, { domain }: Names) => `admission.${domain}/${version}`;

/** A request as webhooks get it, in the version in which it matched: the text of an AdmissionRequest behind its uid. */
export function writeRequest(
  request: AdmissionRequest,
  as: ServedKind,
  object: JsonObject | undefined,
  oldObject: JsonObject | undefined,
): string {
  const { kind, resource, subresource, name, operation, user, dryRun } = request;
  const namespace = namespaceOf(request);
  return stringifyJson({
    kind: { group: as.kind.group, version: as.kind.version, kind: as.kind.kind },
    resource: { group: as.resource.group, version: as.resource.version, resource: as.resource.resource },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group: kind.group, version: kind.version, kind: kind.kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.resource },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: toUserInfo(user),
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: request.options() ?? null,
  }).slice(1);
}

/** The body of a call. */
export function writeReview(version: ReviewVersion, uid: string, request: string, names: Names): ByteString {
  const head = `{"kind":"AdmissionReview","apiVersion":${JSON.stringify(apiVersionOf(version, names))},"request":{"uid":`;
  return encodeText(`${head}${JSON.stringify(uid)},${request}}`);
}

/** The response in a review, verified. */
export interface Answer {
  readonly allowed: boolean;
  readonly status: JsonObject;
  /** Base64; empty: there is none. */
  readonly patch: string;
  readonly patchType: string;
  readonly auditAnnotations: { readonly [key: string]: string };
  readonly warnings: readonly string[];
}

/** A review that cannot be read; `verified`: it can, but it is not an answer to the call. */
export class BadReview extends Error {
  readonly verified: boolean;

  constructor(message: string, verified = false) {
    super(message);
    this.verified = verified;
  }
}

/** The answer in the body of a response. @throws BadReview */
export function* readAnswerInSteps(
  { version, uid, type }: { readonly version: ReviewVersion; readonly uid: string; readonly type: HookType },
  body: Uint8Array,
  names: Names,
): Steps<Answer> {
  const review = yield* readReview(body);
  const apiVersion = textIn(review, 'apiVersion');
  const kind = textIn(review, 'kind');
  checkType(version, { apiVersion, kind }, names);
  yield;
  const { response } = yield* decodedInSteps(review, names);
  const unverified = (why: string) => new BadReview(why, true);
  if (!response) throw unverified('webhook response was absent');
  const { allowed = false, status, patch = '', patchType, auditAnnotations = {}, warnings = [] } = response;
  const answer = { allowed, status: (status ?? {}) as JsonObject, patch, auditAnnotations, warnings };
  // The reference server verifies nothing of the older version either.
  if (version === 'v1beta1') return { ...answer, patchType: 'JSONPatch' };
  if (response.uid !== uid) throw unverified(`expected response.uid=${quote(uid)}, got ${quote(response.uid ?? '')}`);
  const expected = apiVersionOf(version, names);
  if (kind === '' || apiVersion !== expected) {
    const actual = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
    throw unverified(
      `expected webhook response of ${expected}, Kind=AdmissionReview, got ${actual.group}/${actual.version}, Kind=${kind}`,
    );
  }
  const fault = patchFault(type, patch, patchType ?? undefined);
  if (fault !== undefined) throw unverified(fault);
  return { ...answer, patchType: patchType ?? '' };
}

function patchFault(type: HookType, patch: string, patchType: string | undefined): string | undefined {
  if (type === 'validating') {
    if (patch !== '') return 'validating webhook may not return response.patch';
    return patchType === undefined ? undefined : 'validating webhook may not return response.patchType';
  }
  if (patch !== '' && patchType === undefined) return 'webhook returned response.patch but not response.patchType';
  if (patch === '' && patchType !== undefined) return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

const typed = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const misfit = (what: string) => `json: cannot unmarshal ${what} into Go value of type ${typed}`;

function* readReview(body: Uint8Array): Steps<JsonObject> {
  const unread = (why: string) => new BadReview(`couldn't get version/kind; json parse error: ${why}`);
  let value: Json;
  try {
    ({ value } = yield* parseAnyJsonInSteps(body, MAX_DEPTH + reviewDepth, maxAnswerMembers));
  } catch (error) {
    // The reference server reads what is not JSON as YAML, in which a plain text is a string.
    const isText = !/^\s*[[{"]/.test(Buffer.from(body.subarray(0, 64)).toString());
    if (error instanceof StatusError) throw unread(isText ? misfit('string') : error.message);
    throw error;
  }
  if (isJsonObject(value)) return value;
  const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  if (value === null) return {};
  throw unread(misfit(what));
}

/** A review without a type is read; that it has none is found when it is verified. */
function checkType(version: ReviewVersion, { apiVersion, kind }: { apiVersion: string; kind: string }, names: Names) {
  if (apiVersion === '' && kind === '') return;
  const known = apiVersion === apiVersionOf('v1', names) || apiVersion === apiVersionOf('v1beta1', names);
  if (!known || (kind !== 'AdmissionReview' && kind !== '')) {
    const scheme = quote('pkg/util/webhook/client.go:71');
    throw new BadReview(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${scheme}`);
  }
  if (apiVersion === apiVersionOf(version, names)) return;
  const actualVersion = parseGroupVersion(apiVersion)?.version ?? '';
  throw new BadReview(
    `converting (${actualVersion}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`,
  );
}

function* decodedInSteps(review: JsonObject, names: Names): Steps<AdmissionReview> {
  try {
    const response = getKey(review, 'response') ?? null;
    return (yield* compile(AdmissionReview, names).decodeInSteps({ response })).value as AdmissionReview;
  } catch (error) {
    if (error instanceof StatusError) throw new BadReview(error.message);
    throw error;
  }
}

function textIn(of: JsonObject, name: string): string {
  const value = getKey(of, name);
  return typeof value === 'string' ? value : '';
}

/** The error for a request that a webhook has denied. */
export function denial(webhook: string, status: JsonObject): StatusError {
  const reason = textIn(status, 'reason');
  const why = textIn(status, 'message') || reason;
  const statusCode = getKey(status, 'code');
  const code =
    typeof statusCode === 'number' && Number.isInteger(statusCode) && statusCode >= 400 && statusCode <= 599
      ? statusCode
      : 400;
  const details = getKey(status, 'details') as StatusDetails | null | undefined;
  const denialText = `admission webhook ${quote(webhook)} denied the request`;
  return new StatusError(
    code,
    reason,
    why === '' ? `${denialText} without explanation` : `${denialText}: ${why}`,
    details ?? undefined,
  );
}
