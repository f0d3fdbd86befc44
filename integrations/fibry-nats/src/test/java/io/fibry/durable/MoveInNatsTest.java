package io.fibry.durable;

class MoveInNatsTest extends MoveContract {
  MoveInNatsTest() {
    super(InNats.maker());
  }
}
