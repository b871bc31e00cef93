// npm run build: installs the packages and builds the server.
import { build } from './setup.mjs';

build();
