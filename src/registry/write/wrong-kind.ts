/** Errors for bodies whose kind is not that of their target. */
import { formatGroupVersion, parseGroupVersion, quote, type StatusError, statusError } from '../../meta/index.ts';
import { listKindOf } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';

export interface ObjectType {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The schemes that messages of the reference server name; clients compare whole messages. */
const schemes = {
  objects: 'pkg/api/legacyscheme/scheme.go:30',
  definitions: 'pkg/apiserver/apiserver.go:55',
  extensions: 'pkg/apiserver/scheme/scheme.go:28',
  options: 'pkg/apis/meta/internalversion/scheme/register.go:27',
} as const;

type Scheme = keyof typeof schemes;

/** The schemes of groups that have one of their own, by the first label of the group. */
const ownSchemes: ReadonlyMap<string, Scheme> = new Map([
  ['apiextensions', 'definitions'],
  ['apiregistration', 'extensions'],
]);

const firstLabel = (group: string): string => group.split('.', 1)[0] as string;
const schemeOf = (group: string): Scheme => ownSchemes.get(firstLabel(group)) ?? 'objects';

/** Kinds that every group version has, and `v1` in every scheme. */
const ofEveryVersion: ReadonlySet<string> = new Set(
  ['Create', 'Delete', 'Get', 'List', 'Patch', 'Update'].map((verb) => `${verb}Options`).concat('WatchEvent'),
);

/** Kinds that `v1` has in every scheme. */
const ofV1: ReadonlySet<string> = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']);

/** Kinds of `v1` that no resource has. */
const ofCore: ReadonlySet<string> = new Set([
  'List',
  'PodAttachOptions',
  'PodExecOptions',
  'PodLogOptions',
  'PodPortForwardOptions',
]);

export function unknownKind({ kind, apiVersion }: ObjectType, of: Scheme): StatusError {
  const [what, version, scheme] = [kind, apiVersion, schemes[of]].map(quote);
  return statusError.badRequest(`no kind ${what} is registered for version ${version} in scheme ${scheme}`);
}

/** The error for a body that is not an `internalName`: its kind is unknown to the scheme of `group`, or it cannot be converted. */
export function wrongKind(
  body: ObjectType,
  group: string,
  internalName: string,
  resources: readonly Resource[],
): StatusError {
  const scheme = schemeOf(group);
  if (!isKnown(body, scheme, resources)) return unknownKind(body, scheme);
  const from = `${parseGroupVersion(body.apiVersion)?.version}.${body.kind}`;
  return statusError.badRequest(`converting (${from}) to (${internalName}): unknown conversion`);
}

function isKnown({ kind, apiVersion }: ObjectType, scheme: Scheme, resources: readonly Resource[]): boolean {
  if (apiVersion === 'v1') {
    if (ofV1.has(kind) || ofEveryVersion.has(kind)) return true;
    if (scheme === 'objects' && ofCore.has(kind)) return true;
  }
  return resources.some(({ definition, subresources }) => {
    const { group, custom, versions } = definition;
    if (custom !== undefined || schemeOf(group) !== scheme) return false;
    const isVersion = versions.some(({ version }) => formatGroupVersion({ group, version }) === apiVersion);
    if (isVersion && [definition.kind, listKindOf(definition)].includes(kind)) return true;
    if (isVersion && ofEveryVersion.has(kind)) return true;
    return [...subresources.values()].some(
      ({ requestKind }) => requestKind?.kind === kind && requestKind.apiVersion === apiVersion,
    );
  });
}
