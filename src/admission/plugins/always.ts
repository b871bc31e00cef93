import { forbidden } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../types.ts';

/** Admits every request. */
export const alwaysAdmit = (): AdmissionPlugin => ({ name: 'AlwaysAdmit' });

/** Rejects every request. */
export function alwaysDeny(): AdmissionPlugin {
  const deny = (request: AdmissionRequest): never => {
    throw forbidden(request, 'admission control is denying all modifications');
  };
  return { name: 'AlwaysDeny', mutate: deny, validate: deny };
}
