/** An error that prevents the start; its message tells the operator how to fix it. */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}

/** Describes a system error about a file or an address. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = reasons.get(code);
  if (reason !== undefined) return reason;
  return error instanceof Error ? error.message : String(error);
}

const reasons = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission is denied'],
  ['EPERM', 'permission is denied'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'part of the path is not a folder'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EADDRINUSE', 'another process uses it already'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
]);
