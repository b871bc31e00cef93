/** The kinds that the server serves. */
import { signal } from '@preact/signals';
import { type Place, readJson } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { isRefused, liveEvents, pause } from './live-events.ts';
import type { KindAddress } from './route.ts';
import type { Session } from './session.ts';

/** A kind in one of its versions. */
export interface Kind extends KindAddress {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Whether the group prefers this version. */
  readonly preferred: boolean;
}

/** All kinds, by group in the order of the server. Undefined: not read yet. */
export const kinds = signal<readonly Kind[] | undefined>(undefined);

/** The kind at an address; undefined: it is not served. */
export const kindAt = ({ apiVersion, resource }: KindAddress): Kind | undefined =>
  kinds.value?.find((kind) => kind.apiVersion === apiVersion && kind.resource === resource);

/** The kind of an object; undefined: it is not served. */
export const kindOf = (apiVersion: string, name: string): Kind | undefined =>
  kinds.value?.find((kind) => kind.apiVersion === apiVersion && kind.kind === name);

/** The place of an object of a kind. */
export const placeOf = (
  { apiVersion, resource }: KindAddress,
  { metadata: { namespace, name = '' } }: Pick<ApiObject, 'metadata'>,
): Place & { readonly name: string } => ({
  apiVersion,
  resource,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly verbs?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly { readonly version: string; readonly resources?: readonly DiscoveredResource[] }[];
  }[];
}

/** Reads the kinds from the two documents of aggregated discovery. @throws StatusError */
async function readKinds({ client, names }: Session): Promise<void> {
  const accept = `application/json;g=apidiscovery.${names.domain};v=v2;as=APIGroupDiscoveryList`;
  const read = async (url: string) =>
    kindsOf((await readJson(await client.request({ method: 'GET', url, headers: { accept } }))) as DiscoveryList);
  const [core, named] = await Promise.all([read('/api'), read('/apis')]);
  kinds.value = [...core, ...named];
}

function kindsOf({ items = [] }: DiscoveryList): Kind[] {
  return items.flatMap(({ metadata, versions = [] }) => {
    const group = metadata?.name ?? '';
    const known = new Set<string>();
    return versions.flatMap(({ version, resources = [] }) =>
      resources.map((resource): Kind => {
        const preferred = !known.has(resource.resource);
        known.add(resource.resource);
        return {
          group,
          version,
          apiVersion: group === '' ? version : `${group}/${version}`,
          resource: resource.resource,
          kind: resource.responseKind?.kind ?? resource.resource,
          namespaced: resource.scope === 'Namespaced',
          verbs: resource.verbs ?? [],
          subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
          preferred,
        };
      }),
    );
  });
}

/** Delay after a change of a definition before the kinds are read again (ms): several changes follow each other. */
const settleMs = 150;

/** Delay before the kinds are read again when the server could not be reached (ms). */
const retryMs = 2_000;

/**
 * Reads the kinds now, and again whenever a custom resource definition changes, until the signal is aborted.
 * @throws StatusError when the server refuses to list the kinds, of which there are none then, or the definitions
 */
export async function followKinds(session: Session, signal: AbortSignal): Promise<void> {
  for (let isRead = false; !isRead && !signal.aborted; ) {
    try {
      await readKinds(session);
      isRead = true;
    } catch (error) {
      if (isRefused(error)) {
        kinds.value = [];
        throw error;
      }
      await pause(retryMs, signal);
    }
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const place = { apiVersion: `apiextensions.${session.names.domain}/v1`, resource: 'customresourcedefinitions' };
  const readSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void readKinds(session).catch(() => {}), settleMs);
  };
  await liveEvents({ session, place, signal, representation: 'metadata', onReset: readSoon, onEvent: readSoon });
}
