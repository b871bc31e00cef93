import type { WriteContext } from '../../registry/index.ts';
import type { PodSpec } from '../../types/core-v1.ts';
import { same } from '../shared/field-rules.ts';
import { annotationKeys } from './annotations.ts';
import { type AppArmorProfileOf, validateAppArmor } from './security-context.ts';

/** Copies AppArmor profiles that a new pod sets by annotation only into the security contexts of its containers. */
export function adoptProfiles(
  spec: PodSpec,
  annotations: { readonly [key: string]: string },
  { names, warn }: Pick<WriteContext, 'names' | 'warn'>,
): void {
  if (spec.os?.name === 'windows') return;
  const prefix = annotationKeys(names).appArmor;
  const profileKeys = Object.keys(annotations).filter((key) => key.startsWith(prefix));
  if (profileKeys.length === 0) return;
  const keys = new Map(profileKeys.map((key) => [key.slice(prefix.length), key]));
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
    const key = keys.get(container.name ?? '');
    if (key === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    const text = annotations[key] as string;
    const profile = profileOf(text);
    // A container inherits the profile of the pod.
    if (profile !== undefined && same(profile, spec.securityContext?.appArmorProfile)) continue;
    if (profile !== undefined) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

const LOCAL = 'localhost/';

/** The profile of an annotation's value; undefined when the value sets none. */
function profileOf(text: string): AppArmorProfileOf | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!text.startsWith(LOCAL)) return undefined;
  const profile = { type: 'Localhost', localhostProfile: text.slice(LOCAL.length) };
  return validateAppArmor(profile, '').length === 0 ? profile : undefined;
}
