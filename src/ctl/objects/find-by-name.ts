import type { JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { pathOfTarget, type Target } from './targets.ts';

interface Found {
  readonly object: JsonObject | undefined;
  /** The version of the list, from which a watch goes on. That of the object may be too old for a watch. */
  readonly version: string;
}

/** The object of a target by a list, so that a watch can follow. @throws StatusError */
export async function findByName(cluster: Cluster, target: Target): Promise<Found> {
  const url = `${pathOfTarget({ ...target, name: undefined })}?fieldSelector=${encodeURIComponent(`metadata.name=${target.name}`)}`;
  const { items = [], metadata } = (await cluster.send({ url })) as {
    items?: JsonObject[];
    metadata: { resourceVersion: string };
  };
  const [item] = items;
  const { apiVersion, kind } = target.resource;
  return { object: item === undefined ? undefined : { apiVersion, kind, ...item }, version: metadata.resourceVersion };
}
