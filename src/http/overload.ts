import { StatusError } from '../meta/index.ts';
import { textAnswer } from './answers.ts';
import type { ApiResponse } from './types.ts';

const retryAfterSeconds = 1;

/** A request is refused because the server, or its user, has too much to do. `detail` follows the message. */
export class Overload extends StatusError {
  constructor(detail = '') {
    const message = `Too many requests, please try again later.${detail}`;
    super(429, 'TooManyRequests', message, { retryAfterSeconds });
  }
}

/** The response is text for every client, as no time is spent on a refused request. */
export function overloadAnswer({ message }: Overload): ApiResponse {
  const answer = textAnswer(429, `${message}\n`);
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterSeconds) } };
}
