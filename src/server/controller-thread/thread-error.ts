import { StatusError } from '../../meta/index.ts';
import type { ThreadError } from './messages.ts';

export function packError(error: unknown): ThreadError {
  if (error instanceof StatusError) return { message: error.message, code: error.code, reason: error.reason };
  if (error instanceof Error) return { message: error.message, stack: error.stack };
  return { message: String(error) };
}

export function unpackError({ message, stack, code, reason }: ThreadError): Error {
  if (code !== undefined) return new StatusError(code, (reason ?? '') as StatusError['reason'], message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
