import { Binding } from '../../types/core-v1.ts';
import { resource } from '../shared/define.ts';
import { bindPod } from './pods.binding.ts';

export const bindings = resource({
  group: '',
  plural: 'bindings',
  kind: 'Binding',
  schema: Binding,
  lifecycle: { introduced: '1.0' },
  verbs: ['create'],
  virtual: true,
  onCreate: bindPod,
});
