import {
  atOnce,
  dns1123Label,
  dns1123Subdomain,
  errorsInSteps,
  errorsLater,
  type FieldError,
  fieldError,
  formatTime,
  type NameRule,
  type Names,
  type Steps,
} from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  type CertificateSigningRequestStatus,
  keyUsages,
} from '../../types/certificates-v1.ts';
import { eachOf, oneOf, unique } from '../shared/field-rules.ts';
import { certificateProblem, requestProblem } from './x509.ts';

type Request = ObjectOf<typeof CertificateSigningRequest>;
type Status = CertificateSigningRequestStatus;
type Condition = Infer<typeof CertificateSigningRequestCondition>;

const MIN_SECONDS = 600;
const MAX_DOMAIN = 253;
const MAX_SIGNER = 571;

/** Errors that validation tolerates in requests of v1beta1, and in an update where the stored request has them already. */
export interface Tolerance {
  readonly legacySigner?: boolean;
  readonly unknownUsages?: boolean;
  readonly duplicateUsages?: boolean;
  readonly conditionsWithoutType?: boolean;
  readonly duplicateConditions?: boolean;
  readonly bothDecisions?: boolean;
  readonly anyCertificate?: boolean;
  readonly changedCertificate?: boolean;
}

const legacySigner = ({ labels }: Names): string => `${labels}/legacy-unknown`;

/** The errors of a stored request that an update may keep. */
export function toleranceOf({ spec = {}, status = {} }: Request, updated: Request, names: Names): Tolerance {
  const { usages = [], signerName } = spec;
  const types = (status.conditions ?? []).map(({ type = '' }) => type);
  const { certificate = '' } = status;
  return {
    legacySigner: signerName === legacySigner(names),
    unknownUsages: usages.some((usage) => !keyUsages.includes(usage)),
    duplicateUsages: new Set(usages).size < usages.length,
    conditionsWithoutType: types.includes(''),
    duplicateConditions: new Set(types).size < types.length,
    bothDecisions: decisions.every((type) => types.includes(type)),
    anyCertificate: certificate === (updated.status?.certificate ?? '') || atOnce(problemOf(certificate)) !== undefined,
  };
}

export function validateRequest(
  { spec = {}, status = {} }: Request,
  names: Names,
  tolerance: Tolerance = {},
): FieldError[] {
  const { request, signerName = '', usages = [], expirationSeconds: seconds } = spec;
  // The check of a signature takes up to some milliseconds.
  const errors = errorsLater(() => {
    const problem = requestProblem(textOf(request ?? ''));
    return problem === undefined ? [] : [fieldError.invalid('spec.request', request ?? '', problem)];
  });
  if (usages.length === 0) errors.push(fieldError.required('spec.usages'));
  if (!tolerance.unknownUsages) {
    errors.push(...eachOf(usages, 'spec.usages', (usage, at) => oneOf(at, usage, keyUsages)));
  }
  if (!tolerance.duplicateUsages) errors.push(...unique(usages, 'spec.usages', (usage) => usage));
  if (signerName === legacySigner(names) && !tolerance.legacySigner) {
    const why = 'the legacy signerName is not allowed via this API version';
    errors.push(fieldError.invalid('spec.signerName', signerName, why));
  } else if (signerName !== '') errors.push(...validateSigner(signerName, 'spec.signerName'));
  if (seconds !== undefined && seconds < MIN_SECONDS) {
    const why = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(fieldError.invalid('spec.expirationSeconds', seconds, why));
  }
  errors.push(...validateConditions(status.conditions, tolerance));
  return tolerance.anyCertificate ? errors : [...errors, ...validateCertificate(status.certificate ?? '')];
}

/** Validates a signer name: a domain and a path. */
export function validateSigner(name: string, path: string): FieldError[] {
  const [domain = '', rest, ...more] = name.split('/', 3);
  if (rest === undefined || more.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(path, name, why)];
  }
  const errors = Buffer.byteLength(domain) > MAX_DOMAIN ? [fieldError.tooLong(path, MAX_DOMAIN)] : [];
  errors.push(...validateParts(domain, dns1123Label, path));
  if (!domain.includes('.')) {
    const why = 'should be a domain with at least two segments separated by dots';
    errors.push(fieldError.invalid(path, domain, why));
  }
  errors.push(...validateParts(rest, dns1123Subdomain, path));
  return Buffer.byteLength(name) > MAX_SIGNER ? [...errors, fieldError.tooLong(path, MAX_SIGNER)] : errors;
}

/** The errors of the first invalid segment between dots, of as many as a name may have. */
function validateParts(text: string, rule: NameRule, path: string): FieldError[] {
  for (const part of text.split('.', MAX_SIGNER)) {
    const problems = rule(part);
    if (problems.length === 0) continue;
    return problems.map((why) => fieldError.invalid(path, text, `validating label ${JSON.stringify(part)}: ${why}`));
  }
  return [];
}

const decisions = ['Approved', 'Denied'];
const trueOnly = [...decisions, 'Failed'];

function validateConditions(conditions: readonly Condition[] = [], tolerance: Tolerance): FieldError[] {
  const path = 'status.conditions';
  const seen = new Set<string>();
  return eachOf(conditions, path, ({ type = '', status = '' }, at) => {
    const errors: FieldError[] = [];
    if (type === '' && !tolerance.conditionsWithoutType) errors.push(fieldError.required(`${at}.type`));
    const allowed = trueOnly.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') errors.push(fieldError.required(`${at}.status`));
    else errors.push(...oneOf(`${at}.status`, status, allowed));
    const contradicts = decisions.includes(type) && decisions.some((other) => other !== type && seen.has(other));
    if (contradicts && !tolerance.bothDecisions) {
      errors.push(fieldError.invalid(path, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type) && !tolerance.duplicateConditions) errors.push(fieldError.duplicate(`${at}.type`, type));
    seen.add(type);
    return errors;
  });
}

/** The error of issued certificates in base64, of which there may be none yet. */
function* problemOf(base64: string): Steps<string | undefined> {
  return base64 === '' ? undefined : yield* certificateProblem(textOf(base64));
}

const validateCertificate = (base64: string): FieldError[] =>
  errorsInSteps(function* () {
    const why = yield* problemOf(base64);
    return why === undefined ? [] : [fieldError.invalid('status.certificate', '<certificate data>', why)];
  });

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');

/**
 * Keeps the `Approved` and `Denied` conditions on status updates. Added or removed ones are left for validation to
 * reject.
 */
export function keepApproval(status: Status, old: Status): void {
  const { conditions = [] } = status;
  for (const type of decisions) {
    const before = withType(old, type);
    if (before.length !== withType(status, type).length) continue;
    let next = 0;
    conditions.forEach((condition, i) => {
      if (condition.type === type) conditions[i] = { ...(before[next++] as Condition) };
    });
  }
}

const withType = ({ conditions = [] }: Status, type: string): Condition[] =>
  conditions.filter((condition) => condition.type === type);

/** Sets the times of conditions that the client has not set. */
export function setConditionTimes({ conditions = [] }: Status, old: Status, now: number): void {
  // The first of several conditions of a type counts.
  const oldConditions = new Map([...(old.conditions ?? [])].reverse().map((condition) => [condition.type, condition]));
  for (const condition of conditions) {
    const before = oldConditions.get(condition.type);
    // An unset time of a condition is null.
    condition.lastUpdateTime ||= formatTime(now);
    if (condition.lastTransitionTime) continue;
    condition.lastTransitionTime =
      before?.status === condition.status && before?.lastTransitionTime ? before.lastTransitionTime : formatTime(now);
  }
}

/** Rejects the removal of `Approved`, `Denied` and `Failed` conditions. */
export function validateApprovalKept(status: Status, old: Status): FieldError[] {
  return trueOnly
    .filter((type) => withType(status, type).length < withType(old, type).length)
    .map((type) => fieldError.forbidden('status.conditions', `updates may not remove a condition of type "${type}"`));
}

/** Validates a status update: the certificate is set once, and approval does not change. */
export function validateStatusUpdate(status: Status, old: Status, tolerance: Tolerance): FieldError[] {
  const errors = validateApprovalKept(status, old);
  for (const type of decisions) {
    if (withType(status, type).length <= withType(old, type).length) continue;
    errors.push(fieldError.forbidden('status.conditions', `updates may not add a condition of type "${type}"`));
  }
  if (tolerance.changedCertificate || !old.certificate || status.certificate === old.certificate) return errors;
  const why = 'updates may not modify existing certificate content';
  return [...errors, fieldError.forbidden('status.certificate', why)];
}
