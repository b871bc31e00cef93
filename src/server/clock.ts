export { systemClock } from '../client/index.ts';
