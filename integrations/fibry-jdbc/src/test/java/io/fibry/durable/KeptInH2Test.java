package io.fibry.durable;

class KeptInH2Test extends KeptContract {
  KeptInH2Test() {
    super(InDatabases.h2());
  }

  @Override
  void failNextWrite() {
    ((InDatabases) stores).failNextWrite();
  }
}
