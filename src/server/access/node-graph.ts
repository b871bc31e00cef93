import { type NodeGraph, podReferences, volumeReferences } from '../../auth/index.ts';
import { formatGroupResource, type Names } from '../../meta/index.ts';
import type { ObjectFollower, Registry } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PersistentVolume, Pod } from '../../types/core-v1.ts';
import type { ResourceSlice } from '../../types/resource-v1beta2.ts';
import type { VolumeAttachment } from '../../types/storage-v1.ts';

/**
 * Fills the graph from the watch caches of pods, volumes, attachments and slices, and keeps it up to date. Resolves once it
 * is loaded. Rejects when the registry is closed first.
 */
export async function followNodes(registry: Registry, graph: NodeGraph, { domain, labels }: Names): Promise<void> {
  const mirrorAnnotation = `${labels}/config.mirror`;
  const followers: readonly (readonly [string, string, ObjectFollower])[] = [
    [
      '',
      'pods',
      (namespace, name, object) => {
        const pod = object as Pod | undefined;
        const node = pod?.spec?.nodeName ?? '';
        graph.setPod(
          namespace,
          name,
          node,
          pod === undefined || node === '' ? [] : podReferences(pod, mirrorAnnotation),
        );
      },
    ],
    [
      '',
      'persistentvolumes',
      (_, name, object) => {
        const { claim, secrets } = volumeReferences((object as PersistentVolume | undefined)?.spec ?? {});
        graph.setVolume(name, claim, secrets);
      },
    ],
    [
      `storage.${domain}`,
      'volumeattachments',
      (_, name, object) =>
        graph.setOwner('volumeattachments', name, (object as VolumeAttachment | undefined)?.spec?.nodeName ?? ''),
    ],
    [
      `resource.${domain}`,
      'resourceslices',
      (_, name, object) =>
        graph.setOwner(
          'resourceslices',
          name,
          (object as Infer<typeof ResourceSlice> | undefined)?.spec?.nodeName ?? '',
        ),
    ],
  ];
  const served = new Set(registry.resources.map(({ id }) => formatGroupResource(id)));
  const ids = followers.map(([group, resource, follower]) => ({
    id: formatGroupResource({ group, resource }),
    follower,
  }));
  await Promise.all(
    ids.filter(({ id }) => served.has(id)).map(({ id, follower }) => registry.follow(id, follower, { late: true })),
  );
}
