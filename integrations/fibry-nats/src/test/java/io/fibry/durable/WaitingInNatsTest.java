package io.fibry.durable;

class WaitingInNatsTest extends WaitingContract {
  WaitingInNatsTest() {
    super(InNats.maker());
  }
}
