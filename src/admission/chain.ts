import type { AdmissionPlugin, AdmissionRequest } from './types.ts';

/** Lets every plugin change the object, in their order. @throws StatusError of the first that refuses */
export async function admit(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): Promise<void> {
  for (const { mutate } of plugins) {
    const done = mutate?.(request);
    if (done !== undefined) await done;
  }
}

/** Lets every plugin judge the object as it is to be stored. @throws StatusError of the first that refuses */
export async function review(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): Promise<void> {
  for (const { validate } of plugins) {
    const done = validate?.(request);
    if (done !== undefined) await done;
  }
}
