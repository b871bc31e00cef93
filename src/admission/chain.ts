import { formatGroupResource } from '../meta/index.ts';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './types.ts';

type Step = (request: AdmissionRequest) => void | Promise<void>;

/** The steps for one place, so that a write meets no plugin that is not meant for it. */
interface Lane {
  readonly mutate: readonly Step[];
  readonly validate: readonly Step[];
}
type Lanes = { readonly [operation in AdmissionOperation]: Lane };

/** Plugins in their order, sorted out by place as places are seen. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[];
  /** By group, resource and subresource: names of what is served, so there are never many. */
  readonly lanes: Map<string, Map<string, Map<string, Lanes>>>;
}

export const createChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({ plugins, lanes: new Map() });

/** Lets every plugin change the object, in their order. @throws StatusError of the first that refuses */
export async function admit(chain: AdmissionChain, request: AdmissionRequest): Promise<void> {
  for (const step of laneOf(chain, request).mutate) {
    const done = step(request);
    if (done !== undefined) await done;
  }
}

/** Lets every plugin judge the object as it is to be stored. @throws StatusError of the first that refuses */
export async function review(chain: AdmissionChain, request: AdmissionRequest): Promise<void> {
  for (const step of laneOf(chain, request).validate) {
    const done = step(request);
    if (done !== undefined) await done;
  }
}

function laneOf(chain: AdmissionChain, { operation, resource, subresource }: AdmissionRequest): Lane {
  const lanes = chain.lanes.get(resource.group)?.get(resource.resource)?.get(subresource);
  return (lanes ?? addLanes(chain, resource.group, resource.resource, subresource))[operation];
}

function addLanes({ plugins, lanes }: AdmissionChain, group: string, resource: string, subresource: string): Lanes {
  const id = formatGroupResource({ group, resource });
  const lane = (operation: AdmissionOperation): Lane => {
    const meant = plugins.filter(({ handles }) => handles?.({ operation, resource: id, subresource }) ?? true);
    return {
      mutate: meant.flatMap(({ mutate }) => mutate ?? []),
      validate: meant.flatMap(({ validate }) => validate ?? []),
    };
  };
  const made: Lanes = {
    CREATE: lane('CREATE'),
    UPDATE: lane('UPDATE'),
    DELETE: lane('DELETE'),
    CONNECT: lane('CONNECT'),
  };
  const byResource = lanes.get(group) ?? new Map<string, Map<string, Lanes>>();
  const bySubresource = byResource.get(resource) ?? new Map<string, Lanes>();
  lanes.set(group, byResource.set(resource, bySubresource.set(subresource, made)));
  return made;
}
