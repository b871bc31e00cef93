import { jsonEqual } from '../../meta/index.ts';
import type { Endpoint, Slice, SliceChanges } from './slices.ts';

type Hints = Endpoint['hints'];

export const isEndpointReady = ({ conditions }: Endpoint): boolean => conditions?.ready === true;

/**
 * The changes with the hints that `hintsOf` gives each endpoint. Slices that would otherwise stay as they are become
 * updates where an endpoint has other hints.
 */
export function withHints(
  { create, update, remove }: SliceChanges,
  unchanged: readonly Slice[],
  hintsOf: (endpoint: Endpoint) => Hints,
): SliceChanges {
  const hinted = (slice: Slice): Slice => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map((endpoint) => {
      const { hints: _, ...rest } = endpoint;
      const hints = hintsOf(endpoint);
      return hints == null ? rest : { ...rest, hints };
    }),
  });
  const isOther = (endpoint: Endpoint) =>
    !jsonEqual((endpoint.hints ?? null) as never, (hintsOf(endpoint) ?? null) as never);
  const others = unchanged.filter(({ endpoints }) => (endpoints ?? []).some(isOther));
  return { create: create.map(hinted), update: [...update, ...others].map(hinted), remove };
}

/** The hints of endpoints of a service with this traffic distribution; undefined: it asks for none. */
export function hintsForDistribution(
  distribution: string | null | undefined,
  sameNode: boolean,
): ((endpoint: Endpoint) => Hints) | undefined {
  const supportedModes = sameNode ? ['PreferClose', 'PreferSameZone', 'PreferSameNode'] : ['PreferClose'];
  if (distribution == null || !supportedModes.includes(distribution)) return undefined;
  return (endpoint) => {
    if (!isEndpointReady(endpoint)) return endpoint.hints;
    const { zone, nodeName } = endpoint;
    const forZones = zone == null ? {} : { forZones: [{ name: zone }] };
    const forNodes = nodeName == null || distribution !== 'PreferSameNode' ? {} : { forNodes: [{ name: nodeName }] };
    const hints = { ...forZones, ...forNodes };
    return Object.keys(hints).length === 0 ? undefined : hints;
  };
}
