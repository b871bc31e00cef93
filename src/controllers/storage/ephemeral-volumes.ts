import { keyOf } from '../../client/index.ts';
import * as kinds from '../shared/kinds.ts';
import { controllerReference } from '../shared/owners.ts';
import { isTerminatingNamespace, messageOf } from '../shared/pod-control.ts';
import type { Pod } from '../shared/pods.ts';
import type { Controller } from '../types.ts';
import { byClaim, ephemeralClaimName, isMadeFor, type Volume } from './pod-claims.ts';

/** Creates the claims of pods' generic ephemeral volumes, which are deleted with their pod. */
export const ephemeralVolumeController: Controller = {
  name: 'ephemeral-volume-controller',
  needs: [kinds.pods, kinds.persistentVolumeClaims],
  account: 'ephemeral-volume-controller',
  eventSource: 'ephemeral_volume',
  start({ client, events, informers, names, queue }) {
    const pods = informers.of(kinds.pods);
    const claims = informers.of(kinds.persistentVolumeClaims);
    const podsOf = byClaim(pods);

    const ensureClaim = async (pod: Pod, volume: Volume) => {
      const template = volume.ephemeral?.volumeClaimTemplate;
      if (template === undefined) return;
      const { name: podName = '', namespace = '' } = pod.metadata;
      const name = ephemeralClaimName(pod, volume);
      const claim = claims.get(namespace, name);
      if (claim !== undefined) {
        if (isMadeFor(claim, pod)) return;
        throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`);
      }
      const { labels, annotations } = template.metadata ?? {};
      const metadata = {
        namespace,
        name,
        ownerReferences: [controllerReference(kinds.pods, pod, names)],
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      };
      try {
        await client.kind(kinds.persistentVolumeClaims).create({ metadata, spec: template.spec ?? {} });
      } catch (error) {
        if (!isTerminatingNamespace(error))
          throw new Error(`create PVC ${name}: ${messageOf(error)}`, { cause: error });
      }
    };
    const work = queue('ephemeral_volume', async (key) => {
      const pod = pods.getByKey(key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
      for (const volume of pod.spec?.volumes ?? []) {
        try {
          await ensureClaim(pod, volume);
        } catch (error) {
          const message = `ephemeral volume ${volume.name}: ${messageOf(error)}`;
          events.record(pod, 'Warning', 'FailedBinding', message);
          throw new Error(`pod ${key}, ${message}`, { cause: error });
        }
      }
    });
    const add = (pod: Pod) => {
      if (pod.metadata.deletionTimestamp !== undefined) return;
      if (pod.spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined)) work.add(keyOf(pod));
    };
    pods.onChange((pod, old) => {
      // Volumes of a pod do not change.
      if (pod !== undefined && old === undefined) add(pod);
    });
    claims.onChange((claim, old) => {
      if (claim === undefined && old !== undefined) for (const pod of podsOf.get(keyOf(old))) add(pod);
    });
  },
};
