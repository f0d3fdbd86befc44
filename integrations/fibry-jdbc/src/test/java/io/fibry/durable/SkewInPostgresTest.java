package io.fibry.durable;

class SkewInPostgresTest extends SkewContract {
  SkewInPostgresTest() {
    super(InDatabases.postgres());
  }
}
