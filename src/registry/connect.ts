import { admit, review } from '../admission/index.ts';
import { statusError } from '../meta/index.ts';
import { spokenOf } from './convert.ts';
import type { Core } from './core.ts';
import type { Endpoint } from './definition.ts';
import { objectsOf } from './objects.ts';
import type { Connecting, Target } from './types.ts';

/** Where a request to a subresource goes on to, once admission has let it. @throws StatusError */
export async function connect(
  core: Core,
  target: Target,
  { requester, query, warnings }: Connecting,
): Promise<Endpoint | undefined> {
  const { resource, namespace, name, subresource } = target;
  const locate = resource.subresources.get(subresource)?.declared.connect;
  if (locate === undefined) throw statusError.noSuchResource();
  const { group, version, kind } = spokenOf(target);
  const request = {
    operation: 'CONNECT',
    kind: { group, version, kind },
    resource: { ...resource.id, version: target.version },
    subresource,
    namespace,
    name,
    object: undefined,
    oldObject: undefined,
    user: requester,
    dryRun: false,
    warn: (text: string) => warnings.add(text),
  } as const;
  await admit(core.admission, request);
  await review(core.admission, request);
  const write = {
    requester,
    dryRun: false,
    fieldManager: '',
    fieldValidation: 'Ignore',
    force: false,
    warnings,
  } as const;
  return locate({
    names: core.names,
    now: core.clock.now(),
    namespace,
    name,
    query,
    objects: objectsOf(core, write, false),
  });
}
