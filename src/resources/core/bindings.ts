import { Binding } from '../../types/core-v1.ts';
import { resource } from '../shared/define.ts';
import { bindPod } from './pods.binding.ts';

export const bindings = resource({
  group: '',
  plural: 'bindings',
  kind: 'Binding',
  schema: Binding,
  verbs: ['create'],
  virtual: true,
  onCreate: bindPod,
});
