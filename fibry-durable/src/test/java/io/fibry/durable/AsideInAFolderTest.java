package io.fibry.durable;

class AsideInAFolderTest extends AsideContract {
  AsideInAFolderTest() {
    super(Folders::new);
  }
}
