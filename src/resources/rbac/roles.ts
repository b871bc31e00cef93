import { pathSegmentName } from '../../meta/index.ts';
import { Role } from '../../types/rbac-v1.ts';
import { resource } from '../shared/define.ts';
import { validateRules } from './roles.validation.ts';

export const roles = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'roles',
  kind: 'Role',
  schema: Role,
  lifecycle: { introduced: '1.8' },
  followed: true,

  strategy: {
    nameRule: pathSegmentName,
    createOnUpdate: true,
    validate: ({ rules }) => validateRules(rules, true),
  },
});
