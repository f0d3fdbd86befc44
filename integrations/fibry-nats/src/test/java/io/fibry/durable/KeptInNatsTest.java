package io.fibry.durable;

class KeptInNatsTest extends KeptContract {
  KeptInNatsTest() {
    super(InNats.maker());
  }

  @Override
  void failNextWrite() {
    ((InNats) stores).failNextWrite();
  }
}
