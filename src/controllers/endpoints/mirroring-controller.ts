import { keyOf } from '../../client/index.ts';
import { apiVersionOf } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { endpointKeys } from './labels.ts';
import { type Endpoints, mirroredAddresses, planMirror } from './mirror-plan.ts';
import { selectorOf } from './services.ts';
import { onSlices, recycled, slicesByService, writeSlices } from './slices.ts';

/** After failures (ms): an object may need many writes. */
const firstBackoffMs = 1_000;

/** Mirrors endpoints of services without selector, which others write, in endpoint slices. */
export const endpointSliceMirroringController: Controller = {
  name: 'endpointslice-mirroring-controller',
  needs: [kinds.endpointSlices, kinds.endpoints, kinds.services],
  account: 'endpointslicemirroring-controller',
  eventSource: 'endpoint-slice-mirroring-controller',
  start({ client, events, informers, names, queue }) {
    const services = informers.of(kinds.services);
    const endpoints = informers.of(kinds.endpoints);
    const slices = informers.of(kinds.endpointSlices);
    const { leader, mirroringController, skipMirror } = endpointKeys(names);
    const byService = slicesByService(slices, names, mirroringController);
    const mayBeMirrored = ({ metadata: { labels, annotations } }: Endpoints): boolean =>
      labels?.[skipMirror] !== 'true' && annotations?.[leader] === undefined;
    const work = queue(
      'endpoint_slice_mirroring',
      async (key) => {
        const source = endpoints.getByKey(key);
        const service = services.getByKey(key);
        const existing = byService.get(key);
        if (!source || !mayBeMirrored(source) || !service || selectorOf(service).length > 0) {
          await writeSlices(client, `Endpoints ${key}`, { create: [], update: [], remove: existing });
          return;
        }
        const { changes, invalid, skipped } = planMirror(names, source, existing);
        const warn = (reason: string, message: string) => {
          const subject = { ...source, apiVersion: apiVersionOf(kinds.endpoints, names), kind: kinds.endpoints.kind };
          events.record(subject, 'Warning', reason, message);
        };
        if (invalid > 0) {
          warn('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`);
        }
        if (skipped > invalid) {
          warn(
            'TooManyAddressesToMirror',
            `A max of ${mirroredAddresses} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
          );
        }
        const { create, ...rest } = recycled(changes, () => true);
        const isDeleted = source.metadata.deletionTimestamp !== undefined;
        await writeSlices(client, `Endpoints ${key}`, { ...rest, create: isDeleted ? [] : create });
      },
      { firstBackoffMs },
    );
    services.onChange((service, old) => {
      const [now, before] = [service, old].map((one) => one !== undefined && selectorOf(one).length === 0);
      const changed = service ?? old;
      if (changed !== undefined && now !== before) work.add(keyOf(changed));
    });
    endpoints.onChange((source, old) => {
      for (const one of [source, old]) if (one !== undefined && mayBeMirrored(one)) work.add(keyOf(one));
    });
    onSlices(slices, names, mirroringController, (key) => work.add(key));
  },
};
