package io.fibry.dashboard;

import io.fibry.test.ModularReadme;

/** The README is true. */
class ReadmeTest extends ModularReadme {
  ReadmeTest() {
    super("io.fibry.dashboard", "Shop", 2, "  requires java.net.http;\n");
  }
}
