import type { PodSpec } from '../../types/core-v1.ts';
import { containersOf } from './annotations.ts';
import { sourceNames } from './volume-sources.ts';

/**
 * Removes the volumes without a source, and their mounts. Defaults give a source to every volume, so that one without it
 * has lost it: the feature gate of the source is off.
 */
export function dropVolumes(spec: PodSpec | undefined): void {
  const lost = new Set<string | undefined>();
  for (const volume of spec?.volumes ?? []) {
    if (sourceNames.every((source) => volume[source] === undefined)) lost.add(volume.name);
  }
  if (spec === undefined || lost.size === 0) return;
  const kept = <T extends { name?: string }>(list: readonly T[] | undefined): T[] =>
    (list ?? []).filter(({ name }) => !lost.has(name));
  const volumes = kept(spec.volumes);
  if (volumes.length > 0) spec.volumes = volumes;
  else delete spec.volumes;
  for (const [, container] of containersOf(spec, '')) {
    const mounts = kept(container.volumeMounts);
    if (mounts.length > 0) container.volumeMounts = mounts;
    else delete container.volumeMounts;
  }
}
