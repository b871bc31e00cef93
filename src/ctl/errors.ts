/** Errors of commands, and the texts in which kubectl prints errors. */
import { type StatusCause, StatusError } from '../meta/index.ts';

/** Ends a command with a message and an exit status. The message is printed as it is after `error: `. */
export class CommandError extends Error {
  readonly status: number;
  /** Whether `error: ` precedes the message. */
  readonly prefixed: boolean;

  constructor(message: string, options: { status?: number; prefixed?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status ?? 1;
    this.prefixed = options.prefixed ?? true;
  }
}

/** A command line that does not fit the command. `hint` refers to its help. */
export const usageError = (message: string, path: string): CommandError =>
  new CommandError(`${message}\nSee '${path} -h' for help and examples`);

/** Several errors, printed one a line. */
class CommandErrors extends Error {
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super(errors.map(errorText).join('\n'));
    this.errors = errors;
  }
}

/** Throws the errors of a command that continued after them, if there are any. */
export function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new CommandErrors(errors);
}

/** An error of the server about an object of a file: the message begins with what was done. */
class SourcedError extends Error {
  readonly status: StatusError;
  readonly action: string;

  constructor(action: string, status: StatusError) {
    super(`${action}: ${status.message}`, { cause: status });
    this.status = status;
    this.action = action;
  }
}

/** Names what was done in an error of the server. Other errors stay as they are. */
export const duringAction = (error: unknown, action: string): unknown =>
  error instanceof StatusError ? new SourcedError(action, error) : error;

/** The text of an error on standard error, without line feed at its end. */
export function errorText(error: unknown): string {
  if (error instanceof CommandErrors) return error.message;
  if (error instanceof CommandError) return error.prefixed ? `error: ${error.message}` : error.message;
  if (error instanceof SourcedError) return statusText(error.status, error.action);
  if (error instanceof StatusError) return statusText(error, '');
  if (isTimeout(error)) return 'Unable to connect to the server: the request took longer than --request-timeout';
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith('error: ') ? message : `error: ${message}`;
}

/** Whether a request was ended by its timeout. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

/** The exit status of an error. */
export const statusOf = (error: unknown): number => (error instanceof CommandError ? error.status : 1);

/** The reasons and messages of responses without a Status, such as those of a proxy. */
const generic: { readonly [code: number]: readonly [reason: string, message: string] } = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', 'the server does not allow access to the requested resource'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
};

function statusText(status: StatusError, action: string): string {
  const [reason, text] = (status.reason === '' ? generic[status.code] : undefined) ?? [];
  const error = reason === undefined ? status : new StatusError(status.code, reason, text ?? '');
  const message = action === '' ? error.message : `${action}: ${error.message}`;
  const unreachable = unreachableText(error);
  if (unreachable !== undefined) return unreachable;
  if (error.reason === 'Invalid' && action === '') return invalidText(error);
  if (error.reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`;
  return error.reason === '' ? `Error from server: ${message}` : `Error from server (${error.reason}): ${message}`;
}

/** The message when no server answered: `StatusError` carries the failure of the connection as its cause. */
function unreachableText({ cause }: StatusError): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code, address, port } = cause as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'ECONNREFUSED') {
    const host = address?.includes(':') === true ? `[${address}]` : address;
    return `The connection to the server ${host}:${port} was refused - did you specify the right host or port?`;
  }
  return `Unable to connect to the server: ${cause.message}`;
}

function invalidText({ message, details }: StatusError): string {
  const { kind = '', name = '', causes = [] } = details ?? {};
  const named = kind !== '' || name !== '';
  const head = named ? `The ${kind} ${JSON.stringify(name)} is invalid` : 'The request is invalid';
  if (causes.length === 0) return named || message === '' ? head : `${head}: ${message}`;
  const lines = [...new Set(causes.map(causeText))];
  return lines.length === 1 ? `${head}: ${lines[0]}` : `${head}: \n${lines.map((line) => `* ${line}`).join('\n')}`;
}

/** A cause, as `field: message`. */
export const causeText = ({ field = '', message = '' }: StatusCause): string => `${field}: ${message}`;
