/** How a command has ended, as kubelets tell. */
export function exitStatus(code: number): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}
