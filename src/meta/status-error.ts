import type { FieldError } from './field-error.ts';
import { formatGroupResource, type GroupResource } from './gvk.ts';
import { MAX_FIELDS, MAX_ITEMS, MAX_MEMBERS } from './json.ts';
import { maxShown, quote, shorten } from './quote.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The resource for most reasons, the kind for `Invalid`. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The `Status` object: the response to a failed request, or one without an object to return. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** The maximum length of the message of a Status, and of all its causes together, in characters. */
const maxMessage = 256 * 1024;
const maxCauseText = 128 * 1024;
/** The maximum number of causes: fewer than the errors after which a validation is stopped. */
const maxCauses = 500;

/**
 * Returns as many causes as fit, followed by `and N more` when `total` is larger. Takes no further causes from the
 * iterable.
 */
export function boundedCauses(causes: Iterable<StatusCause>, total: number): StatusCause[] {
  const included: StatusCause[] = [];
  let left = maxCauseText;
  for (const { message = '', field, ...rest } of causes) {
    const cause = {
      ...rest,
      message: shorten(message, maxCauseText),
      ...(field !== undefined && { field: shorten(field, maxShown) }),
    };
    left -= cause.message.length + (cause.field ?? '').length;
    if (included.length === maxCauses || (left < 0 && included.length > 0)) break;
    included.push(cause);
  }
  if (included.length < total) included.push({ message: `and ${total - included.length} more` });
  return included;
}

/** The error type of all room interfaces: a failure with its `Status` for the client. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** Fields of `metadata` in the Status, such as the continue token of an expired list. */
  readonly metadata: Status['metadata'];

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    options: { cause?: unknown; metadata?: Status['metadata'] } = {},
  ) {
    super(shorten(message, maxMessage), 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = options.metadata ?? {};
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

const quoteName = (name: string): string => quote(shorten(name));

const resourceDetails = (of: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name: shorten(name) }),
  ...(of.group === '' ? {} : { group: of.group }),
  kind: of.resource,
});

/** A constructor for each `reason`, with the `code` that the reference server uses for it. */
export const statusError = {
  /** An object beyond {@link MAX_FIELDS}, {@link MAX_ITEMS} or {@link MAX_MEMBERS}. */
  tooManyMembers: () => {
    const limits = `${MAX_FIELDS} fields in one map, ${MAX_ITEMS} items in one list, ${MAX_MEMBERS} of both in all`;
    const why = `Request entity too large: the object has too many fields and items, limit is ${limits}`;
    return new StatusError(413, 'RequestEntityTooLarge', why);
  },
  notFound: (of: GroupResource, name: string) =>
    new StatusError(
      404,
      'NotFound',
      `${formatGroupResource(of)} ${quoteName(name)} not found`,
      resourceDetails(of, name),
    ),
  /** For a URL path without a resource. */
  noSuchResource: () => new StatusError(404, 'NotFound', 'the server could not find the requested resource', {}),
  alreadyExists: (of: GroupResource, name: string) =>
    new StatusError(
      409,
      'AlreadyExists',
      `${formatGroupResource(of)} ${quoteName(name)} already exists`,
      resourceDetails(of, name),
    ),
  conflict: (of: GroupResource, name: string, why: string) =>
    new StatusError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${formatGroupResource(of)} ${quoteName(name)}: ${why}`,
      resourceDetails(of, name),
    ),
  /** A write with a resourceVersion that is not the latest. */
  modified: (of: GroupResource, name: string) =>
    statusError.conflict(
      of,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    ),
  invalid: (kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]) => {
    const causes = boundedCauses(errors, errors.length);
    // Several checks may report the same error: each is a cause, but the message names it once.
    const texts = [
      ...new Set(causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))),
    ];
    const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
    return new StatusError(
      422,
      'Invalid',
      `${what} ${quoteName(name)} is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
      {
        ...(name === '' ? {} : { name: shorten(name) }),
        ...(kind.group === '' ? {} : { group: kind.group }),
        ...(kind.kind === '' ? {} : { kind: kind.kind }),
        causes,
      },
    );
  },
  badRequest: (message: string, cause?: unknown) => new StatusError(400, 'BadRequest', message, undefined, { cause }),
  unauthorized: () => new StatusError(401, 'Unauthorized', 'Unauthorized'),
  /** The user `who` is not authorized for `what`; without a resource the details are empty. */
  forbidden: (of: GroupResource | undefined, name: string, why: string) => {
    if (of === undefined) return new StatusError(403, 'Forbidden', `forbidden: ${why}`, {});
    const what = `${formatGroupResource(of)}${name === '' ? '' : ` ${quoteName(name)}`}`;
    return new StatusError(403, 'Forbidden', `${what} is forbidden: ${why}`, resourceDetails(of, name));
  },
  methodNotAllowed: () =>
    new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  methodNotSupported: (of: GroupResource, verb: string) =>
    new StatusError(
      405,
      'MethodNotAllowed',
      `${verb} is not supported on resources of kind ${quote(formatGroupResource(of))}`,
      resourceDetails(of, ''),
    ),
  notAcceptable: (available: readonly string[]) =>
    new StatusError(
      406,
      'NotAcceptable',
      `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
      {},
    ),
  unsupportedMediaType: (accepted: readonly string[]) =>
    new StatusError(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    ),
  /** `limit` in bytes. */
  tooLarge: (limit: number) =>
    new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`),
  tooMany: (what: string, limit: number) =>
    new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: the object has too many ${what}, limit is ${limit}`,
    ),
  tooManyRequests: (message: string, retryAfterSeconds: number) =>
    new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds }),
  /** A resourceVersion or continue token that has expired. */
  expired: (message: string, metadata?: Status['metadata']) =>
    new StatusError(410, 'Expired', message, undefined, metadata === undefined ? {} : { metadata }),
  timeout: (message: string, retryAfterSeconds = 0) =>
    new StatusError(504, 'Timeout', message, retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  /** The client gets `message`; `cause` is only logged. */
  internal: (message: string, cause?: unknown) =>
    new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }, { cause }),
  /** Stored objects cannot be read. `cause` is only logged. */
  damaged: (of: GroupResource, cause: unknown) =>
    statusError.internal(`the stored data of ${formatGroupResource(of)} is damaged`, cause),
  unavailable: (message: string) => new StatusError(503, 'ServiceUnavailable', message),
};

/** Whether the error is a Status with this code. */
export const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;
