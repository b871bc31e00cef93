export { systemRandom } from '../meta/index.ts';
