import {
  type FieldError,
  fieldError,
  isPrintable,
  type Names,
  quote,
  StatusError,
  shorten,
  statusError,
} from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import type { ReadOptions, SentOptions, WatchOptions, WriteOptions } from '../types.ts';

/** The 422 for query parameters, which are reported as fields of an options object. */
export function invalidOptions(names: Names, kind: string, errors: readonly FieldError[]): StatusError {
  return statusError.invalid({ group: `meta.${names.domain}`, kind }, '', errors);
}

/** A boolean query parameter: true when present, unless its value is `false` or `0`. */
export function readFlag(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : text !== '0' && text.toLowerCase() !== 'false';
}

/** An integer of 64 bits; undefined when absent. @throws StatusError 400 */
export function readInteger(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [whole, sign = '', digits = ''] = /^([+-]?)0*(0|[1-9][0-9]*)$/.exec(text) ?? [];
  // Precision is lost beyond 2^53, which does not matter for limits and times.
  if (whole !== undefined && digits.length <= maxDigits) {
    const value = BigInt(sign === '-' ? `-${digits}` : digits);
    if (BigInt.asIntN(64, value) === value) return Number(value);
  }
  const fault = whole === undefined ? 'invalid syntax' : outOfRange;
  throw statusError.badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${fault}`);
}

const outOfRange = 'value out of range';
/** Maximum number of digits of an integer of 64 bits. */
const maxDigits = 20;

/** The numeric parameters of a list or watch; 0 when absent. @throws StatusError 400 */
export function readNumbers({ limit, timeoutSeconds }: ReadOptions): { limit: number; seconds: number } {
  const seconds = readInteger(timeoutSeconds) ?? 0;
  return { limit: Math.max(0, readInteger(limit) ?? 0), seconds };
}

/** Why a text is not a resourceVersion, an unsigned integer of 64 bits; undefined when it is one. */
export function versionFault(text: string): string | undefined {
  const digits = /^0*(0|[1-9][0-9]*)$/.exec(text)?.[1];
  const fits = digits !== undefined && digits.length <= maxDigits && BigInt(digits) >> 64n === 0n;
  const fault = digits === undefined ? 'invalid syntax' : fits ? '' : outOfRange;
  return fault === '' ? undefined : `strconv.ParseUint: parsing ${quote(text)}: ${fault}`;
}

/** A resourceVersion as a number; undefined when absent or empty. @throws StatusError 400 for a list, else 500 */
export function readVersion(text: string | undefined, verb: 'get' | 'list' | 'watch'): number | undefined {
  if (text === undefined || text === '') return undefined;
  const fault = versionFault(text);
  if (fault === undefined) return Number(text);
  const why = `resourceVersion: Invalid value: ${quote(text)}: ${fault}`;
  throw verb === 'list' ? statusError.badRequest(`invalid resource version: ${why}`) : new StatusError(500, '', why);
}

/** @throws StatusError 422 for list parameters that cannot be combined */
export function checkListOptions(options: ReadOptions & { sendInitialEvents?: string }, names: Names): void {
  const errors = matchErrors(options);
  if (options.sendInitialEvents !== undefined) {
    errors.push(fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (errors.length > 0) throw invalidOptions(names, 'ListOptions', errors);
}

/** The same for a get with `resourceVersionMatch`. */
export function checkGetOptions(options: ReadOptions, names: Names): void {
  const errors = matchErrors(options);
  if (errors.length > 0) throw invalidOptions(names, 'GetOptions', errors);
}

/** The errors of `resourceVersionMatch`. */
function matchErrors(
  options: Pick<ReadOptions, 'resourceVersion' | 'resourceVersionMatch' | 'continue'>,
): FieldError[] {
  const { resourceVersion = '', resourceVersionMatch: match = '', continue: token = '' } = options;
  if (match === '') return [];
  const errors: FieldError[] = [];
  const field = 'resourceVersionMatch';
  if (resourceVersion === '') {
    errors.push(fieldError.forbidden(field, `${field} is forbidden unless resourceVersion is provided`));
  }
  if (token !== '') errors.push(fieldError.forbidden(field, `${field} is forbidden when continue is provided`));
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(fieldError.notSupported(field, match, ['Exact', 'NotOlderThan', '']));
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(fieldError.forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  }
  return errors;
}

/** The same for a watch. */
export function checkWatchOptions(
  options: WatchOptions,
  { names, features }: Pick<RegistryContext, 'names' | 'features'>,
): void {
  const { resourceVersionMatch: match = '', continue: token = '', sendInitialEvents } = options;
  const errors: FieldError[] = [];
  const field = 'resourceVersionMatch';
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(fieldError.forbidden(field, `sendInitialEvents requires setting ${field} to NotOlderThan`));
  }
  if (sendInitialEvents !== undefined && !features.WatchList) {
    const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    errors.push(fieldError.forbidden('sendInitialEvents', why));
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      errors.push(fieldError.forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
    }
    if (match !== 'NotOlderThan') errors.push(fieldError.notSupported(field, match, ['NotOlderThan']));
    if (token !== '') errors.push(fieldError.forbidden(field, `${field} is forbidden when continue is provided`));
  }
  if (errors.length > 0) throw invalidOptions(names, 'ListOptions', errors);
}

/** Query parameters of a write, as received, and the User-Agent header. */
export interface WriteParameters extends SentOptions {
  readonly force?: string;
  readonly userAgent?: string | undefined;
}

const optionsKinds = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions', apply: 'PatchOptions' };

/** Reads the query parameters of a write. @throws StatusError 422 */
export function readWriteOptions(
  verb: keyof typeof optionsKinds,
  parameters: WriteParameters,
  {
    requester,
    warn,
    annotate,
    attributes,
    stages,
    turns,
  }: Pick<WriteOptions, 'requester' | 'warn' | 'annotate' | 'attributes' | 'stages' | 'turns'>,
  names: Names,
): WriteOptions {
  const { fieldManager = '', fieldValidation = '' } = parameters;
  const force = readFlag(parameters.force);
  const errors = [
    ...(verb === 'apply' && fieldManager === ''
      ? [fieldError.required('fieldManager', 'is required for apply patch')]
      : []),
    ...(verb === 'patch' && force !== undefined
      ? [fieldError.forbidden('force', 'may not be specified for non-apply patch')]
      : []),
    ...managerErrors(fieldManager),
    ...dryRunErrors(parameters.dryRun ?? []),
  ];
  const validation = fieldValidation === '' ? 'Warn' : fieldValidation;
  if (validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    errors.push(fieldError.notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
    throw invalidOptions(names, optionsKinds[verb], errors);
  }
  if (errors.length > 0) throw invalidOptions(names, optionsKinds[verb], errors);
  return {
    requester,
    attributes,
    dryRun: isDryRun(parameters.dryRun ?? []),
    fieldManager: fieldManager === '' ? defaultManager(parameters.userAgent) : fieldManager,
    fieldValidation: validation,
    sent: parameters,
    force: force === true,
    warn,
    annotate,
    stages,
    turns,
  };
}

/** Maximum length of a field manager (bytes). */
const maxManagerBytes = 128;
/** Maximum number of invalid characters of a field manager that are reported. */
const maxManagerErrors = 128;
/** Maximum number of characters of the field manager in an error. */
const maxShownManager = 1024;

const printableAscii = /^[ -~]*$/;

function managerErrors(fieldManager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(fieldManager) > maxManagerBytes)
    errors.push(fieldError.tooLong('fieldManager', maxManagerBytes));
  if (printableAscii.test(fieldManager)) return errors;
  let position = 0;
  for (const character of fieldManager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
      const why = `invalid character U+${code} (at position ${position})`;
      errors.push(fieldError.invalid('fieldManager', shorten(fieldManager, maxShownManager), why));
      if (errors.length === maxManagerErrors) break;
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/**
 * The field manager of a request that names none: the product of its user agent, printable characters only and cut at the
 * limit, else `unknown`.
 */
function defaultManager(userAgent = ''): string {
  let name = '';
  let bytes = 0;
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > maxManagerBytes) break;
    name += character;
  }
  return name === '' ? 'unknown' : name;
}

/** `All` is the only dry run value. An empty one means no dry run. */
export const isDryRun = (values: readonly string[]): boolean => values.includes('All');

export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All' || value === '')
    ? []
    : [fieldError.notSupported('dryRun', [...values], ['All'])];
}
