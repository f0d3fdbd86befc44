package io.fibry.durable;

class SkewInPostgresTest extends ClockSkewContract {
  SkewInPostgresTest() {
    super(InDatabases.postgres());
  }
}
