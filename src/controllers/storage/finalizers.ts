import type { Named } from '../shared/kind.ts';

/** Whether to add or remove a protection finalizer: objects have it until nothing uses them during their deletion. */
export function finalizerTask({ metadata }: Named, finalizer: string): 'add' | 'remove' | undefined {
  const present = metadata.finalizers?.includes(finalizer) ?? false;
  if (metadata.deletionTimestamp === undefined) return present ? undefined : 'add';
  return present ? 'remove' : undefined;
}

/** The object with the finalizer, or without it. */
export function withFinalizer<T extends Named>(object: T, finalizer: string, present: boolean): T {
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers: present ? [...others, finalizer] : others } };
}
