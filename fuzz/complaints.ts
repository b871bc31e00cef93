import type { TestedServer } from './server.ts';

/** Unexpected warnings and errors in the log, without duplicates. */
export function complaintsOf(server: TestedServer): string[] {
  const unexpected = server.complaints().filter((line) => !isExpected(line));
  return [...new Set(unexpected.map(textOf))];
}

/** Expected: requests are slow, proxied backends are unreachable or close the connection, and webhooks do not answer. */
const isExpected = (line: string): boolean =>
  /"msg":"(?:slow request|an admission webhook has failed|error dialing backend|error trying to reach service)/.test(
    line,
  ) ||
  (line.includes('"msg":"response aborted"') && /"code":"(?:ECONNRESET|HPE_[A-Z_]+)"/.test(line));

/** A log line, with the first lines of the stack of its error. */
function textOf(line: string): string {
  const {
    msg,
    error,
    time: _,
    ...rest
  } = JSON.parse(line) as { msg: string; time: string; error?: { stack?: string } };
  const stack = error?.stack?.split('\n').slice(0, 12).join('\n');
  return `logged: ${msg} ${stack ?? JSON.stringify(rest)}`;
}
