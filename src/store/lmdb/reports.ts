let running = 0;
let print = console.error;

/**
 * Runs `write`. The library prints the errors of failed writes in addition to reporting them: the output is dropped,
 * because the caller reports the failure.
 */
export async function withoutReports<T>(write: () => Promise<T>): Promise<T> {
  if (running++ === 0) {
    print = console.error;
    console.error = printExceptReports;
  }
  try {
    return await write();
  } finally {
    if (--running === 0 && console.error === printExceptReports) console.error = print;
  }
}

function printExceptReports(...printed: unknown[]): void {
  if (printed.length !== 1 || !isReport(printed[0])) print(...printed);
}

/** An error of LMDB or of the system with its number, made by the library. */
const isReport = (printed: unknown): boolean =>
  printed instanceof Error &&
  'code' in printed &&
  typeof printed.code === 'number' &&
  /[\\/]node_modules[\\/]lmdb[\\/]/.test(printed.stack ?? '');
