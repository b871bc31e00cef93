/** Claims on devices that are in use by others need a namespace that is meant for it. */
import { type CheckedWrite, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import type { ReferenceCheck, Registry } from '../../registry/index.ts';

interface CheckOptions {
  readonly names: Names;
  readonly backend: { readonly registry: Pick<Registry, 'objects'> };
}

/** A request for devices, in the versions in which it is stored. */
interface DeviceRequest {
  readonly adminAccess?: boolean;
  readonly exactly?: { readonly adminAccess?: boolean };
}

interface ClaimSpec {
  readonly devices?: { readonly requests?: readonly DeviceRequest[] };
}

interface Claim {
  readonly spec?: ClaimSpec & { readonly spec?: ClaimSpec };
  readonly status?: {
    readonly allocation?: { readonly devices?: { readonly results?: readonly { readonly adminAccess?: boolean }[] } };
  };
}

/** The checks of claims and their templates, by resource. */
export function adminAccessChecks(options: CheckOptions): ReadonlyMap<string, ReferenceCheck> {
  const group = `resource.${options.names.domain}`;
  const check: ReferenceCheck = (write) => checkClaim(options, write);
  return new Map([
    [`resourceclaims.${group}`, check],
    [`resourceclaimtemplates.${group}`, check],
  ]);
}

/** Admin access that the write adds requires the label of the namespace. */
async function checkClaim(
  options: CheckOptions,
  { namespace, object, oldObject }: CheckedWrite,
): Promise<FieldError[]> {
  const before = new Set(oldObject === undefined ? [] : placesOf(oldObject as Claim));
  const added = placesOf(object as Claim).filter((place) => !before.has(place));
  if (added.length === 0 || (await isForAdmins(options, namespace))) return [];
  const label = `resource.${options.names.labels}/admin-access`;
  const why = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
  return added.map((place) => fieldError.forbidden(place, why));
}

/** The fields that are set. The reference server names those of a template as it names those of a claim. */
function placesOf({ spec, status }: Claim): string[] {
  const { devices = {} } = spec?.spec ?? spec ?? {};
  const requests = (devices.requests ?? []).flatMap(({ adminAccess, exactly }, i) =>
    adminAccess === true || exactly?.adminAccess === true ? [`spec.devices.requests[${i}].adminAccess`] : [],
  );
  const results = (status?.allocation?.devices?.results ?? []).flatMap(({ adminAccess }, i) =>
    adminAccess === true ? [`status.allocation.devices.results[${i}].adminAccess`] : [],
  );
  return [...requests, ...results];
}

/** Whether a namespace has the label: that of release 1.33, or that of later releases. */
async function isForAdmins({ names, backend }: CheckOptions, namespace: string): Promise<boolean> {
  const { metadata } = (await backend.registry.objects.read('namespaces', '', namespace).catch(() => undefined)) ?? {};
  return [names.domain, names.labels].some(
    (domain) => metadata?.labels?.[`resource.${domain}/admin-access`] === 'true',
  );
}
