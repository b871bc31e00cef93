import type { TestedServer } from './server.ts';

/** What the server has logged that it should not have to, each once. */
export function complaintsOf(server: TestedServer): string[] {
  const told = server.complaints().filter((line) => !isExpected(line));
  return [...new Set(told.map(textOf))];
}

/** Others may be out of reach, or break off what is passed on. */
const isExpected = (line: string): boolean =>
  /"msg":"(?:error dialing backend|error trying to reach service)/.test(line) ||
  (line.includes('"msg":"answer broke off"') && /"code":"(?:ECONNRESET|HPE_[A-Z_]+)"/.test(line));

/** A line of the log, with the beginning of the stack of its error in lines of their own. */
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
