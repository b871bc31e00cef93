import { StoreError } from '../store.ts';
import { attemptMs, type Members } from './members.ts';
import type { Rpc } from './rpc.ts';

/** The oldest etcd whose progress notifications follow every change before them. */
const oldest = [3, 5, 8] as const;

/** Fails as `invalid` when a member that answers is too old, or with the error of etcd when none answers. */
export async function checkVersions(members: Pick<Members, 'all' | 'read' | 'sendTo'>, rpc: Rpc): Promise<void> {
  await members.read(rpc.status, {});
  const statuses = members.all.map((member) =>
    members.sendTo(member, rpc.status, {}, attemptMs).catch(() => undefined),
  );
  for (const [i, status] of (await Promise.all(statuses)).entries()) {
    if (status === undefined || isNewEnough(status.version)) continue;
    const message = `etcd at ${members.all[i]?.endpoint} has version ${status.version}; it must be ${oldest.join('.')} or newer`;
    throw new StoreError('invalid', message);
  }
}

function isNewEnough(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const at = oldest.findIndex((part, i) => parts[i] !== part);
  return at < 0 || (parts[at] ?? 0) > (oldest[at] ?? 0);
}
