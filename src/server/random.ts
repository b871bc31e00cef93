export { systemRandom } from '../client/index.ts';
