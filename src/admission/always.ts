import { forbidden } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest } from './types.ts';

/** Lets everything pass. */
export const alwaysAdmit = (): AdmissionPlugin => ({ name: 'AlwaysAdmit' });

/** Lets nothing pass. */
export function alwaysDeny(): AdmissionPlugin {
  const deny = (request: AdmissionRequest): never => {
    throw forbidden(request, 'admission control is denying all modifications');
  };
  return { name: 'AlwaysDeny', mutate: deny, validate: deny };
}
