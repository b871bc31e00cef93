import type { Client } from '../../client/index.ts';
import { isStatus, type Names, StatusError } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import { type DemoObject, demoNamespace, demoObjects } from './demo-objects.ts';

const fieldManager = 'demo';
/**
 * Applies the objects of the demo. Unchanged objects, and objects with fields of other managers, stay as they are. Failures,
 * such as in a namespace that is being deleted, are logged.
 */
export async function applyDemo(client: Client, names: Names, log: Pick<Log, 'warn'>): Promise<void> {
  for (const object of demoObjects(names)) {
    try {
      await applyObject(client, object);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (isStatus(error, 409)) continue;
      const { kind, metadata } = object;
      log.warn('an object of the demo cannot be made', { kind, name: metadata.name, error: error.message });
    }
  }
}

async function applyObject(client: Client, object: DemoObject): Promise<void> {
  const { resource, apiVersion, kind, metadata, fields } = object;
  const { name, namespace } = metadata;
  const place = { apiVersion, resource, name, ...(namespace === undefined ? {} : { namespace }) };
  await client.apply(place, { apiVersion, kind, metadata, ...fields }, { fieldManager });
}

/** Commands to try, for kubectl. */
export const demoCommands: readonly string[] = [
  `kubectl get all,bookings --namespace ${demoNamespace}`,
  `kubectl rollout restart deployment/web --namespace ${demoNamespace}`,
  `kubectl rollout status deployment/web --namespace ${demoNamespace}`,
  `kubectl describe quota --namespace ${demoNamespace}`,
  `kubectl explain bookings.spec`,
  `kubectl auth can-i delete pods --namespace ${demoNamespace} --as jane`,
  `kubectl drain fake-node-0 --ignore-daemonsets`,
  `kubectl get events --namespace ${demoNamespace} --watch`,
];
