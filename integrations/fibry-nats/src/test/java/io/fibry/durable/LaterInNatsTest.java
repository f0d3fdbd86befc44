package io.fibry.durable;

class LaterInNatsTest extends LaterContract {
  LaterInNatsTest() {
    super(InNats.maker());
  }
}
