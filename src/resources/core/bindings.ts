import { resource } from '../define.ts';
import { Binding } from '../types/core-v1.ts';

export const bindings = resource({
  group: '',
  plural: 'bindings',
  kind: 'Binding',
  schema: Binding,
  verbs: ['create'],
  virtual: true,
});
