package io.fibry.jackson;

import io.fibry.test.ModularReadme;

/** Tests the README of this module. */
class ReadmeTest extends ModularReadme {
  ReadmeTest() {
    super("io.fibry.jackson", "Ledger", 4, "  opens ledger to io.fibry.durable;\n");
  }
}
