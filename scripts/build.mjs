// npm run build: the packages and the compiled server, nothing else.
import { build } from './setup.mjs';

build();
