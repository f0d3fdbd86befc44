package io.fibry.durable;

class AsideInNatsTest extends AsideContract {
  AsideInNatsTest() {
    super(InNats.maker());
  }
}
