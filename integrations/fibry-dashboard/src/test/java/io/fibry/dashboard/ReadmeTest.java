package io.fibry.dashboard;

import io.fibry.test.ModularReadme;

/** Tests the README of this module. */
class ReadmeTest extends ModularReadme {
  ReadmeTest() {
    super("io.fibry.dashboard", "Shop", 3, "  requires java.net.http;\n");
  }
}
