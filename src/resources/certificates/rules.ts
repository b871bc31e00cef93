import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  formatTime,
  jsonEqual,
  type NameRule,
  type Names,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { eachOf, oneOf } from '../core/pod-spec/findings.ts';
import type { ObjectOf } from '../define.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from '../types/certificates-v1.ts';
import { asJson, unique } from '../validate/common.ts';

type Request = ObjectOf<typeof CertificateSigningRequest>;
type Status = CertificateSigningRequestStatus;
type Condition = Infer<typeof CertificateSigningRequestCondition>;

const MIN_SECONDS = 600;
const MAX_DOMAIN = 253;
const MAX_SIGNER = 571;

export function validateRequest({ spec = {}, status = {} }: Request, { labels }: Names): FieldError[] {
  const { request, signerName = '', usages = [], expirationSeconds: seconds } = spec;
  const found: FieldError[] = [];
  const fault = requestFault(Buffer.from(request ?? '', 'base64').toString('latin1'));
  if (fault !== undefined) found.push(fieldError.invalid('spec.request', request ?? '', fault));
  if (usages.length === 0) found.push(fieldError.required('spec.usages'));
  found.push(...unique(usages, 'spec.usages', (usage) => usage));
  if (signerName === `${labels}/legacy-unknown`) {
    const why = 'the legacy signerName is not allowed via this API version';
    found.push(fieldError.invalid('spec.signerName', signerName, why));
  } else if (signerName !== '') found.push(...validateSigner(signerName, 'spec.signerName'));
  if (seconds !== undefined && seconds < MIN_SECONDS) {
    const why = 'may not specify a duration less than 600 seconds (10 minutes)';
    found.push(fieldError.invalid('spec.expirationSeconds', seconds, why));
  }
  return [...found, ...validateConditions(status.conditions), ...validateCertificate(status.certificate ?? '')];
}

const block = /^-----BEGIN ([A-Z0-9 ]+)-----\s+((?:[A-Za-z0-9+/=]|\s)*)-----END \1-----\s*$/;

/** The text is one block of PEM around a sequence of bytes; whether they are signed rightly is for who signs. */
function requestFault(text: string): string | undefined {
  const start = text.indexOf('-----BEGIN ');
  const [, type = '', body = ''] = (start < 0 ? null : block.exec(text.slice(start))) ?? [];
  if (type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  return isSequence(Buffer.from(body, 'base64')) ? undefined : 'the block holds no certificate request';
}

/** Whether bytes are one DER sequence, to the last. */
function isSequence(der: Buffer): boolean {
  const first = der[1] ?? 0;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (der[0] !== 0x30 || more > 4 || der.length < 2 + more) return false;
  const length = more === 0 ? first : der.readUIntBE(2, more);
  return der.length === 2 + more + length;
}

/** The name of who signs: a domain and a path. */
function validateSigner(name: string, path: string): FieldError[] {
  const [domain = '', rest = '', ...more] = name.split('/');
  if (more.length > 0 || !name.includes('/')) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(path, name, why)];
  }
  const found = Buffer.byteLength(domain) > MAX_DOMAIN ? [fieldError.tooLong(path, MAX_DOMAIN)] : [];
  found.push(...validateParts(domain, dns1123Label, path));
  if (!domain.includes('.')) {
    const why = 'should be a domain with at least two segments separated by dots';
    found.push(fieldError.invalid(path, domain, why));
  }
  found.push(...validateParts(rest, dns1123Subdomain, path));
  return Buffer.byteLength(name) > MAX_SIGNER ? [...found, fieldError.tooLong(path, MAX_SIGNER)] : found;
}

/** What is wrong with the first part between dots that is wrong. */
function validateParts(text: string, rule: NameRule, path: string): FieldError[] {
  for (const part of text.split('.')) {
    const faults = rule(part);
    if (faults.length === 0) continue;
    return faults.map((why) => fieldError.invalid(path, text, `validating label ${JSON.stringify(part)}: ${why}`));
  }
  return [];
}

const decisions = ['Approved', 'Denied'];
const onlyTrue = [...decisions, 'Failed'];

function validateConditions(conditions: readonly Condition[] = []): FieldError[] {
  const path = 'status.conditions';
  const seen = new Set<string>();
  return eachOf(conditions, path, ({ type = '', status = '' }, at) => {
    const found: FieldError[] = [];
    if (type === '') found.push(fieldError.required(`${at}.type`));
    const allowed = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') found.push(fieldError.required(`${at}.status`));
    else found.push(...oneOf(`${at}.status`, status, allowed));
    if (decisions.some((other) => other !== type && seen.has(other)) && decisions.includes(type)) {
      found.push(fieldError.invalid(path, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) found.push(fieldError.duplicate(`${at}.type`, type));
    seen.add(type);
    return found;
  });
}

function validateCertificate(base64: string): FieldError[] {
  if (base64 === '') return [];
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const types = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, type]) => type);
  const odd = types.find((type) => type !== 'CERTIFICATE');
  const why =
    types.length === 0
      ? 'must contain at least one CERTIFICATE PEM block'
      : odd === undefined
        ? undefined
        : `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(odd)}`;
  return why === undefined ? [] : [fieldError.invalid('status.certificate', '<certificate data>', why)];
}

/** A write of the status decides nothing. */
export function keepDecisions(status: Status, old: Status, now: number): void {
  const given = (status.conditions ?? []).filter(({ type = '' }) => !decisions.includes(type));
  const decided = (old.conditions ?? []).filter(({ type = '' }) => decisions.includes(type));
  const conditions = [...decided, ...given];
  if (conditions.length === 0) delete status.conditions;
  else status.conditions = conditions;
  stampConditions(status, old, now);
}

/** Tells of each condition when it came about, where the writer does not. */
export function stampConditions({ conditions = [] }: Status, old: Status, now: number): void {
  for (const condition of conditions) {
    const before = old.conditions?.find(({ type }) => type === condition.type);
    // The time of a condition that is not told is null.
    condition.lastUpdateTime ||= formatTime(now);
    if (condition.lastTransitionTime) continue;
    condition.lastTransitionTime =
      before?.status === condition.status && before?.lastTransitionTime ? before.lastTransitionTime : formatTime(now);
  }
}

/** A certificate is issued once; failure is final. */
export function validateStatusUpdate(status: Status, old: Status): FieldError[] {
  const found: FieldError[] = [];
  if ((old.certificate ?? '') !== '' && !jsonEqual(asJson(status.certificate), asJson(old.certificate))) {
    found.push(fieldError.forbidden('status.certificate', 'updates may not modify existing certificate content'));
  }
  for (const type of onlyTrue) {
    const has = ({ conditions = [] }: Status) => conditions.some((condition) => condition.type === type);
    if (!has(old) || has(status)) continue;
    found.push(fieldError.forbidden('status.conditions', `updates may not remove a condition of type "${type}"`));
  }
  return found;
}
