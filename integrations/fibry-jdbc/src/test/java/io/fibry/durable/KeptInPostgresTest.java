package io.fibry.durable;

class KeptInPostgresTest extends KeptContract {
  KeptInPostgresTest() {
    super(InDatabases.postgres());
  }

  @Override
  void failNextWrite() {
    ((InDatabases) stores).failNextWrite();
  }
}
