import type { Client } from '../../client/index.ts';
import { type Clock, VirtualClock } from '../../meta/index.ts';
import type { OrchServer } from '../server.ts';

/** Resolves when the controllers of the server have made the service account `default` of each of the namespaces. */
export async function waitForAccounts(
  { client, settled }: Pick<OrchServer, 'client' | 'settled'>,
  clock: Clock,
  namespaces: Iterable<string>,
): Promise<void> {
  // Nothing begins by itself on a clock that stands still.
  if (clock instanceof VirtualClock) return settled();
  await watchAccounts(client, new Set(namespaces));
}

async function watchAccounts(client: Client, missing: Set<string>): Promise<void> {
  const accounts = { apiVersion: 'v1', resource: 'serviceaccounts' };
  const watch = await client.watch(accounts, { fieldSelector: 'metadata.name=default' });
  for await (const { object } of watch) {
    missing.delete(object.metadata.namespace ?? '');
    if (missing.size === 0) return;
  }
}
